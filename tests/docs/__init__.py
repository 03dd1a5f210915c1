"""The site of docs/, and what its pages show."""
