export { bind, CONFIG_MAPS, mutate, patching, setting, validate } from "./policies.ts";
