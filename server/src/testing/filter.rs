//! Which calls are meant, for faults and for the call log alike.

/// Gives a type whose `words` are those of `TESTDOUBLE` the methods that say which calls are meant.
macro_rules! filters {
    () => {
        /// Only commands of this name, or of a category as in `@write`.
        pub fn command(self, name: &str) -> Self {
            self.with("CMD", name)
        }

        /// Only calls with a key that matches this pattern.
        pub fn key(self, glob: impl AsRef<[u8]>) -> Self {
            self.with("KEY", glob)
        }

        /// Only calls about a group.
        pub fn group(self, name: impl AsRef<[u8]>) -> Self {
            self.with("GROUP", name)
        }

        /// Only calls as a consumer.
        pub fn consumer(self, name: impl AsRef<[u8]>) -> Self {
            self.with("CONSUMER", name)
        }

        /// Only calls of the client with this name or number.
        pub fn client(self, name: impl AsRef<[u8]>) -> Self {
            self.with("CLIENT", name)
        }

        /// Only calls of a node of a cluster, counted from 0.
        pub fn node(self, node: usize) -> Self {
            self.with("NODE", node.to_string())
        }

        fn with(mut self, word: &str, value: impl AsRef<[u8]>) -> Self {
            self.words.push(word.into());
            self.words.push(value.as_ref().to_vec());
            self
        }
    };
}

pub(super) use filters;
