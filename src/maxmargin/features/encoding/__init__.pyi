from .fitted import FittedTemplates as FittedTemplates
