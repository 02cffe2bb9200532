from .inputs import check_same_length as check_same_length
