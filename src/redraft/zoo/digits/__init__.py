"""A denoiser of 8x8 digits and its student: model, data, training, checks and model card."""

from redraft.zoo.digits.model import NULL_CLASS, SHAPE, DigitsConfig, DigitsDenoiser

__all__ = ["NULL_CLASS", "SHAPE", "DigitsConfig", "DigitsDenoiser"]
