//! placeholder
use crate::spec::Spec;
pub(super) const SPEC: Spec = Spec::container("xadd", &[]);
