"""The shop's views over HTTP, answered from the API's own copy of their changelogs."""
