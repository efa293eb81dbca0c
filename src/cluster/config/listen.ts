/** Starts the API server, and turns errors that a user can fix into ClusterErrors. */
import {
  AdmissionConfigError,
  type ApiServer,
  type ApiServerOptions,
  AuditConfigError,
  AuthorizationConfigError,
  ConfigurationError,
  KeyFileError,
  startApiServer,
} from "#apiserver";
import { ClusterError } from "./errors.ts";
import { refuseUsed } from "./ports.ts";

export interface ListenAt {
  readonly bindAddress: string;
  readonly port: number;
  /** The flag that sets the port. Default: --port. */
  readonly portFlag?: string;
}

export async function listenOrExplain(
  { bindAddress, port, portFlag = "--port" }: ListenAt,
  parts: Omit<ApiServerOptions, "host" | "port">,
): Promise<ApiServer> {
  try {
    const serving = await sharedAmongThreads(parts, { bindAddress, port });
    return await startApiServer({ ...parts, serving, host: bindAddress, port });
  } catch (error) {
    const isUserError = [
      AdmissionConfigError,
      AuditConfigError,
      AuthorizationConfigError,
      ConfigurationError,
      KeyFileError,
    ].some((type) => error instanceof type);
    if (isUserError) throw new ClusterError((error as Error).message, { cause: error });
    const { code, address = bindAddress } = error as NodeJS.ErrnoException & { readonly address?: string };
    const flag = address === bindAddress ? "--bind-address" : "--listen";
    const sentences: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${address} is already in use. Stop the other process, or choose another port with ${portFlag} (0 picks a free one).`,
      EACCES: `This user may not listen on port ${port}. Choose one above 1023 with ${portFlag}.`,
      EADDRNOTAVAIL: `${address} is not an address of this machine. Choose another with ${flag}.`,
    };
    const sentence = sentences[code ?? ""];
    throw sentence === undefined ? error : new ClusterError(sentence, { cause: error });
  }
}

/** Threads listen on one port together. That must not let other processes in that do the same. */
async function sharedAmongThreads(
  { serving = {}, thread, alsoAt = [] }: Pick<ApiServerOptions, "serving" | "thread" | "alsoAt">,
  { bindAddress, port }: ListenAt,
): Promise<ApiServerOptions["serving"]> {
  if (thread === undefined) return serving;
  if (thread.isFirst && serving.sharedPort !== true && port !== 0) await refuseUsed(port, [bindAddress, ...alsoAt]);
  return { ...serving, sharedPort: true };
}
