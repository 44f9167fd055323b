// One server for all files of a worker, and reports in the errors of tests that use `useTailrace`.

module.exports = { testEnvironment: "tailrace/jest-environment" };
