export {
  type CompiledRegistries,
  CREDENTIALS_FILE,
  type RegistryCredentials,
  type RewrittenEndpoint,
  rewrittenRepository,
} from "./compile.ts";
export { loadRegistries, NOTHING } from "./load.ts";
