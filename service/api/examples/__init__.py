"""The examples of the contract, a module for the routes of each; a test reads every one through its type."""
