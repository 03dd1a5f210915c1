"""Retrograde analysis: the phases that compute the values of a material."""
