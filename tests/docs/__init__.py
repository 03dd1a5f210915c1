"""Tests of the site of docs/, and of the content of its pages."""
