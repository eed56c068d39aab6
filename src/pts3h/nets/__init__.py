"""Networks: backbones, the hash network on top of them, and the teacher."""
