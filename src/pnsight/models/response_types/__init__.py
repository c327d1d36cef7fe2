"""The response-type model: a distribution over response types for every profile, learned from both tables."""
