import { Select } from "@mantine/core";
import { grpcStatusNames } from "../../../../contract/traffic/grpc.ts";

interface StatusSelectProps {
  /** A name, or what a rule has in its place. */
  readonly value: string;
  readonly onChange: (name: string) => void;
}

/** What the details of a status look like. */
export const detailsExample = 'details, such as {"@type":"RetryInfo","retryDelay":"2s"}';

const names: readonly string[] = grpcStatusNames;

/** Chooses a gRPC status by its name. */
export function StatusSelect({ value, onChange }: StatusSelectProps) {
  return (
    <Select
      aria-label="Status"
      size="xs"
      data={names.includes(value) ? [...names] : [value, ...names]}
      value={value}
      searchable
      allowDeselect={false}
      comboboxProps={{ withinPortal: false, floatingStrategy: "fixed" }}
      onChange={(name) => name !== null && onChange(name)}
    />
  );
}
