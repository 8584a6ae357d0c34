"""Nereid's `triton` for every test of this folder."""
import nereid

nereid.enable()
