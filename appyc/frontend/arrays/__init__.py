"""Whole arrays: views, masks, tensor expressions."""
