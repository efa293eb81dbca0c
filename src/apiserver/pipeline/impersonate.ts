/**
 * In whose name a request is answered, and what authorization is asked about it. From here on it carries no
 * credentials.
 */
import { RequestAttributes } from "../authz/attributes.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import { authenticated } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";
import { impersonator } from "../impersonation/impersonate.ts";
import type { ImpersonationMetrics } from "../impersonation/impersonation-metrics.ts";
import type { Step } from "./compose.ts";
import type { Attributed, Authenticated } from "./exchange.ts";

/** `isCredential`: headers that go no further than authentication. Default: those that Kubernetes defines. */
export function impersonate(
  authorize: Authorizer,
  isCredential?: (header: string) => boolean,
  metrics?: ImpersonationMetrics,
): Step<Authenticated, Attributed> {
  const impersonated = impersonator(authorize, metrics);
  return (exchange, next) => {
    const attributes = attributesOf(exchange, exchange.caller);
    const other = impersonated(exchange.original, attributes);
    return other === undefined
      ? next(attributed(exchange, attributes, "", isCredential))
      : other.then(({ user, constraint }) =>
          next(attributed(exchange, attributesOf(exchange, user), constraint, isCredential)),
        );
  };
}

function attributed(
  exchange: Authenticated,
  attributes: RequestAttributes,
  constraint: string,
  isCredential?: (header: string) => boolean,
): Attributed {
  const { original, observer } = exchange;
  const seeBody = observer?.body && ((bytes: Buffer) => observer.body?.(bytes));
  return exchange.attributed(authenticated(original, attributes.user, isCredential, seeBody), attributes, constraint);
}

function attributesOf({ info, original }: Authenticated, user: UserInfo): RequestAttributes {
  return new RequestAttributes(user, info, original.query);
}
