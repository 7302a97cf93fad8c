"""Fraud alerts, rule by rule."""
