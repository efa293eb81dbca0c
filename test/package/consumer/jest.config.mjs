export default { testMatch: ["<rootDir>/built/operator.jest.js"] };
