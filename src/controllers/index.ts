/** The whole public surface of controllers. */
export { controllers } from "./all-controllers.ts";
export {
  type Controller,
  type ControllersOptions,
  runControllers,
  selected,
  UnknownControllerError,
} from "./runtime/index.ts";
