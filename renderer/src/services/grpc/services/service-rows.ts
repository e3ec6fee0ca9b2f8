import type { GrpcMethodView, GrpcServiceView, GrpcViews, HealthState } from "../../../../../contract/services/grpc.ts";
import type { CallRate } from "./call-rates.ts";

/** A service, followed by its methods; the first one, without a name, is the whole server. */
export type ServiceRow = (
  | { readonly kind: "service"; readonly health: HealthState }
  | { readonly kind: "method"; readonly method: GrpcMethodView }
) & {
  /** Name of the service, or path of the method. */
  readonly id: string;
  readonly service: string;
  readonly file: string;
  readonly rate: CallRate;
};

const noRate: CallRate = { begun: 0, open: 0, errors: 0, callsPerSecond: 0, errorsPerSecond: 0 };

const sum = (rates: readonly CallRate[]): CallRate =>
  rates.reduce(
    (total, rate) => ({
      begun: total.begun + rate.begun,
      open: total.open + rate.open,
      errors: total.errors + rate.errors,
      callsPerSecond: total.callsPerSecond + rate.callsPerSecond,
      errorsPerSecond: total.errorsPerSecond + rate.errorsPerSecond,
    }),
    noRate,
  );

const methodMatches = ({ path, requestType, responseType }: GrpcMethodView, text: string): boolean =>
  [path, requestType, responseType].some((name) => name.toLowerCase().includes(text));

/** Matching services with all their methods, and the matching methods of the other services. */
export function serviceRows(
  services: readonly GrpcServiceView[],
  states: GrpcViews["health"]["states"],
  rates: ReadonlyMap<string, CallRate>,
  filter: string,
): readonly ServiceRow[] {
  const text = filter.trim().toLowerCase();
  const healthOf = new Map(states);
  const rateOf = (path: string) => rates.get(path) ?? noRate;
  const rowOf = (service: string, file: string, rate: CallRate): ServiceRow => ({
    kind: "service",
    id: service,
    service,
    file,
    health: healthOf.get(service) ?? "SERVICE_UNKNOWN",
    rate,
  });
  const rows = services.flatMap(({ name, file, methods }) => {
    const isWhole = name.toLowerCase().includes(text);
    const shown = isWhole ? methods : methods.filter((method) => methodMatches(method, text));
    if (!isWhole && shown.length === 0) return [];
    const service = rowOf(name, file, sum(methods.map(({ path }) => rateOf(path))));
    return [
      service,
      ...shown.map((method): ServiceRow => ({ kind: "method", id: method.path, service: name, file, method, rate: rateOf(method.path) })),
    ];
  });
  return text === "" ? [rowOf("", "", sum([...rates.values()])), ...rows] : rows;
}
