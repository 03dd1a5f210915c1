"""Tests of plans and builds."""
