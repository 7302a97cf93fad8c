"""The gate that turns markdown proposals into price changes, once."""
