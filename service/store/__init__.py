"""The database: every table and every SQL statement. The functions take a connection and return plain values."""
