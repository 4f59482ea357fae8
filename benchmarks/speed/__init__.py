"""How fast the product is, as ratios within one run, since machines differ and are noisy."""
