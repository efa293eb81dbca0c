/** Controllers on an API server in memory, on virtual time: see `testControllers`. */
export { type TestControllers, type TestControllersOptions, testControllers } from "./test-controllers.ts";
