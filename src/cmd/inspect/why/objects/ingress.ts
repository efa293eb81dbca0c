/** Why an Ingress does not lead to Pods: its class, its Services, their ports, their endpoints. */
import type { core, networking } from "#api";
import { deeper, headline, type Reason, type WhyAnswer } from "../answer.ts";

export interface IngressFacts {
  readonly ingress: networking.Ingress;
  readonly classes: readonly networking.IngressClass[];
  /** Of its namespace, by name. */
  readonly services: ReadonlyMap<string, core.Service>;
  /** What is known of a Service that it names, if that is not well. */
  readonly answers: ReadonlyMap<string, WhyAnswer>;
  readonly secrets: ReadonlySet<string>;
}

const DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class";

export function whyIngress(facts: IngressFacts): WhyAnswer {
  const { metadata, status } = facts.ingress;
  const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? "");
  const at = addresses.length === 0 ? "has no address" : `is served at ${addresses.join(", ")}`;
  const what = `ingress/${metadata.name} ${at}`;
  const found = classProblem(facts) ?? backendProblem(facts) ?? secretProblem(facts);
  if (found !== undefined) return { what, ...found };
  const routes = backendsOf(facts.ingress).map(({ service }) => service.name);
  return {
    what,
    because: [
      {
        text: `it leads to ${[...new Set(routes)].map((name) => `service/${name}`).join(", ")}`,
        evidence: "spec.rules",
      },
    ],
    help: addresses.length === 0 ? ["the controller of its class must give it an address: does it run?"] : [],
  };
}

type Problem = Omit<WhyAnswer, "what"> | undefined;

function classProblem({ ingress, classes }: IngressFacts): Problem {
  const name = ingress.spec?.ingressClassName ?? ingress.metadata.annotations?.["kubernetes.io/ingress.class"];
  const known = classes.map(({ metadata }) => metadata.name ?? "");
  const shown = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
  if (name === undefined) {
    if (classes.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === "true")) return undefined;
    const others = known.length === 0 ? "there is no IngressClass" : `there is no default one: ${shown}`;
    const cause = `it names no class, and ${others}`;
    return {
      cause,
      because: [{ text: cause, evidence: "spec.ingressClassName" }],
      help: [
        known[0] === undefined
          ? "install an ingress controller with its IngressClass: `k8ts up` has one with real nodes"
          : `name a class: spec.ingressClassName: ${known[0]}`,
      ],
    };
  }
  if (known.includes(name)) return undefined;
  const cause = `its class ${name} does not exist: ${shown}`;
  return {
    cause,
    because: [{ text: cause, evidence: "spec.ingressClassName" }],
    help: [`name one that exists, or create the IngressClass ${name}`],
  };
}

function backendProblem({ ingress, services, answers }: IngressFacts): Problem {
  for (const { service, path } of backendsOf(ingress)) {
    const { name, port } = service;
    const backend: Reason = { text: `${path} leads to service/${name}`, evidence: "spec.rules" };
    const found = services.get(name);
    if (found === undefined) {
      const cause = `the Service ${name} does not exist`;
      return {
        cause,
        because: [backend, { text: cause, evidence: `Services of ${ingress.metadata.namespace}` }],
        help: [`create the Service ${name}, or name another one`],
      };
    }
    const ports = found.spec?.ports ?? [];
    const wanted = port?.name ?? port?.number;
    if (!ports.some((each) => each.port === port?.number || (port?.name !== undefined && each.name === port.name))) {
      const has = ports
        .map((each) => [each.port, ...(each.name === undefined ? [] : [each.name])].join(" "))
        .join(", ");
      const cause = `service/${name} has no port ${wanted}: it has ${has}`;
      return {
        cause,
        because: [backend, { text: cause, evidence: `service/${name}, spec.ports` }],
        help: [`name port ${ports[0]?.port} in the Ingress, or add port ${wanted} to the Service`],
      };
    }
    const answer = answers.get(name);
    if (answer !== undefined)
      return { cause: headline(answer), because: [backend, ...deeper(answer, `service/${name}`)], help: answer.help };
  }
  return undefined;
}

function secretProblem({ ingress, secrets }: IngressFacts): Problem {
  const missing = (ingress.spec?.tls ?? []).find(
    ({ secretName }) => secretName !== undefined && !secrets.has(secretName),
  );
  if (missing === undefined) return undefined;
  const cause = `its certificate, the Secret ${missing.secretName}, does not exist`;
  return {
    cause,
    because: [{ text: cause, evidence: "spec.tls" }],
    help: [`\`kubectl create secret tls ${missing.secretName} --cert=FILE --key=FILE\``],
  };
}

interface Backend {
  readonly service: networking.IngressServiceBackend;
  readonly path: string;
}

export function backendsOf({ spec }: networking.Ingress): readonly Backend[] {
  const all: Backend[] = [];
  if (spec?.defaultBackend?.service !== undefined)
    all.push({ service: spec.defaultBackend.service, path: "everything else" });
  for (const { host = "*", http } of spec?.rules ?? [])
    for (const { path = "/", backend } of http?.paths ?? [])
      if (backend.service !== undefined) all.push({ service: backend.service, path: `${host}${path}` });
  return all;
}
