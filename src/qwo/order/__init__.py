"""Order engines: G^π of an order of the variables, kept up to date as the order changes."""
