/** The whole public surface of controllers. */
export { allControllers, type ClusterFacts } from "./all-controllers.ts";
export {
  type Controller,
  type ControllersOptions,
  Lease,
  runControllers,
  selected,
  UnknownControllerError,
} from "./runtime/index.ts";
