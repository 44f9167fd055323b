// As the sample's, but for what is a test.

module.exports = { testEnvironment: "tailrace/jest-environment", testMatch: ["**/*.spec.js"] };
