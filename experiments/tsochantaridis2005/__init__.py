"""Tables of Tsochantaridis et al. 2005, published figures beside ours."""
