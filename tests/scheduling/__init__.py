"""Tests of the job queue, worker processes, clusters and forecasts."""
