/**
 * `--service-account-signing-endpoint`: the signer of service account tokens outside of the server, and what it means
 * for the other flags.
 */
import { formatMs } from "#api";
import { type AuthenticationSettings, openExternalSigner } from "#apiserver";
import type { Clock, Logger } from "#base";
import type { AuthenticationFlags } from "./authentication.ts";
import { ClusterError } from "./errors.ts";

/** The shortest life of a token that clients may ask for. */
const MIN_SECONDS = 600;

/** The settings with the signer, if there is one. It closes with `starting`. */
export async function withExternalSigner(
  settings: AuthenticationSettings,
  flags: AuthenticationFlags,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  starting: AsyncDisposableStack,
): Promise<AuthenticationSettings> {
  const { serviceAccountSigningEndpoint: socket } = flags;
  if (socket === undefined) return settings;
  checkExclusive(flags);
  const signer = await openExternalSigner({ socket, clock, log }).catch((error: unknown) => {
    throw new ClusterError(`--service-account-signing-endpoint ${socket}: ${(error as Error).message}`, {
      cause: error,
    });
  });
  starting.defer(() => signer.close());
  const { maxExpirationSeconds: most } = signer;
  if (most < MIN_SECONDS) {
    throw new ClusterError(
      `max token life supported by external-jwt-signer (${most}s) is less than acceptable (min ${MIN_SECONDS}s)`,
    );
  }
  const { maxExpirationSeconds = most } = settings.serviceAccounts ?? {};
  if (maxExpirationSeconds > most) {
    const [asked, possible] = [maxExpirationSeconds, most].map((seconds) => formatMs(seconds * 1000));
    throw new ClusterError(
      `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${asked} > ${possible}`,
    );
  }
  return { ...settings, serviceAccounts: { ...settings.serviceAccounts, signer, maxExpirationSeconds } };
}

function checkExclusive({ serviceAccountSigningKeyFile, serviceAccountKeyFile = [] }: AuthenticationFlags): void {
  if (serviceAccountSigningKeyFile !== undefined) {
    throw new ClusterError(
      "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time",
    );
  }
  if (serviceAccountKeyFile.length > 0) {
    throw new ClusterError(
      "cannot set mutually exclusive flags `--service-account-key-file` and `--service-account-signing-endpoint` at the same time",
    );
  }
}
