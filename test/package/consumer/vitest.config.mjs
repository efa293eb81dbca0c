export default { test: { include: ["built/operator.vitest.js"] } };
