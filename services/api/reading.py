"""What the API reads: the fields that contracts/consumers/api.yaml declares, and no others."""

from contracts.consumer import reader

decode = reader("api")
