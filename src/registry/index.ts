export { openRegistry, type Registry, type RegistryOptions } from "./registry.ts";
