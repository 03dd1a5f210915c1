"""Tests of `tbgen.engine`."""
