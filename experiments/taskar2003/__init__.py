"""Tables and figures of Taskar, Guestrin and Koller 2003."""
