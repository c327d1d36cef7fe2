"""What the templates show: plain values with everything already in words."""
