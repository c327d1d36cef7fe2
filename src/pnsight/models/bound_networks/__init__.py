"""The paper's learners: networks, or any regressor, from a query to its bounds."""
