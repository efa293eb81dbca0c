/** Authorization modes from flags and the files that they name. */
import { AuthorizationConfigError, type AuthorizationFlags, type ModeSpec, readAuthorization } from "#apiserver";
import { ClusterError } from "./errors.ts";

export async function readModes(flags: AuthorizationFlags): Promise<readonly ModeSpec[]> {
  try {
    return await readAuthorization(flags);
  } catch (error) {
    if (!(error instanceof AuthorizationConfigError)) throw error;
    throw new ClusterError(error.message, { cause: error });
  }
}
