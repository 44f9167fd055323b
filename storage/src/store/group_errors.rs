//! Why something was not done to a group.

use crate::stream::NoGroup;
use crate::value::WrongType;

/// Why a group was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateGroupError {
    /// The key is not there, and was not to be created.
    NoSuchKey,
    /// The key holds something else.
    WrongType,
    /// There is one of this name.
    GroupExists,
}

/// Why something was not done to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// The key is not there.
    NoSuchKey,
    /// The key holds something else.
    WrongType,
    /// The stream has no such group.
    NoGroup,
}

impl From<WrongType> for CreateGroupError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<WrongType> for GroupError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<NoGroup> for GroupError {
    fn from(NoGroup: NoGroup) -> Self {
        Self::NoGroup
    }
}
