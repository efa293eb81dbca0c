/** The whole public surface of grpc. */

export {
  type CallLimits,
  type Channel,
  type ChannelOptions,
  openChannel,
  socketPath,
  socketTarget,
} from "./channel.ts";
export { type GrpcCode, GrpcError, grpcErrorOf, isGrpcError } from "./grpc-error.ts";
export {
  type MessageTable,
  type Method,
  type Methods,
  type MethodTable,
  methodsOf,
  type Received,
  type Sent,
  type Services,
  type ServiceTable,
  servicesOf,
} from "./schema.ts";
export {
  type GrpcServer,
  type HandlerContext,
  type Handlers,
  type ServedService,
  type ServeOptions,
  servedService,
  serveGrpc,
} from "./serve.ts";
