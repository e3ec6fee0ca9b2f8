import type { GrpcServiceView } from "../../../../contract/services/grpc.ts";
import { grpcStatusNames } from "../../../../contract/traffic/grpc.ts";
import type { TrafficPicksProps } from "../../pages/service/define-service-page.ts";
import { type Choice, PickFilter } from "../../ui/forms/pick-filter.tsx";
import { useGrpcView } from "./use-grpc-view.ts";

/** Scopes of the filter over calls. */
export const callScopes = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "ok", label: "OK" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
] as const;

const noServices: readonly GrpcServiceView[] = [];
const statuses: readonly Choice[] = grpcStatusNames.map((value) => ({ value }));

/** Calls of a service or method, and with a status. */
export function CallPicks({ filter, onFilter }: TrafficPicksProps) {
  const services = useGrpcView("services", (view) => view.services) ?? noServices;
  return (
    <>
      <PickFilter
        service="grpc"
        title="Method"
        value={filter.target}
        onChange={(target) => onFilter({ ...filter, target })}
        choices={async (search) => methodChoices(services, search)}
        search="Service or method contains"
        none="No service is known yet: start gRPC"
        mono
        shown={shortPath}
        widthPx={168}
      />
      <PickFilter
        service="grpc"
        title="Status"
        value={filter.outcome}
        onChange={(outcome) => onFilter({ ...filter, outcome })}
        choices={async (search) => statuses.filter(({ value }) => value.includes(search.trim().toUpperCase()))}
        search="Status contains"
        mono
        widthPx={140}
      />
    </>
  );
}

/** Services, each followed by its methods; with a search those that contain it. */
export function methodChoices(services: readonly GrpcServiceView[], search: string): readonly Choice[] {
  const text = search.trim().toLowerCase();
  return services.flatMap(({ name, methods }) => {
    const isWhole = name.toLowerCase().includes(text);
    const shown = isWhole ? methods : methods.filter((method) => method.name.toLowerCase().includes(text));
    if (!isWhole && shown.length === 0) return [];
    return [
      { value: `/${name}/`, label: name },
      ...shown.map((method): Choice => ({ value: method.path, label: method.name, isNested: true })),
    ];
  });
}

/** "Greeter", "SayHello" */
const shortPath = (path: string): string => {
  const [, service = "", method = ""] = path.split("/");
  return method || service.slice(service.lastIndexOf(".") + 1);
};
