import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import { Button } from "@mantine/core";
import { goTo, servicePage } from "../../../app/route.ts";
import { InspectorFrame, InspectorPanel } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { requestedRules } from "../replies/rule-commands.ts";
import { takesRules } from "../replies/rule-draft.ts";
import { fieldsOf, typesWithin } from "../schema/type-fields.ts";
import { type GrpcSchema, useGrpcSchema } from "../schema/use-grpc-schema.ts";
import { requestedTries } from "../try/try-call.ts";
import { HealthSwitch } from "./service-columns.tsx";
import type { ServiceRow } from "./service-rows.ts";
import styles from "./services.module.css";

/** Most types that are shown of a message. */
const mostTypes = 40;

interface ServiceInspectorProps {
  readonly row: ServiceRow;
  /** Otherwise there are no calls and no health to show. */
  readonly isRunning: boolean;
  readonly onClose: () => void;
}

/** A method with the fields of its types, or a service. */
export function ServiceInspector({ row, isRunning, onClose }: ServiceInspectorProps) {
  const isMethod = row.kind === "method";
  const { begun, open, errors, callsPerSecond, errorsPerSecond } = row.rate;
  return (
    <InspectorFrame
      title={isMethod ? row.method.name : row.service || "Whole server"}
      hint={row.id}
      mono={row.id !== ""}
      actions={isMethod && <MethodActions path={row.id} />}
      onClose={onClose}
    >
      <InspectorPanel label={isMethod ? "Method" : "Service"}>
        <Section title={isMethod ? "Method" : "Service"}>
          <Pairs>
            {isMethod && (
              <Pair name="Path" mono>
                {row.id}
              </Pair>
            )}
            {isMethod && <Pair name="Pattern">{row.method.pattern}</Pair>}
            {row.file !== "" && (
              <Pair name="File" mono>
                {row.file}
              </Pair>
            )}
            {isRunning && !isMethod && (
              <Pair name="Health">
                <HealthSwitch service={row.service} state={row.health} />
              </Pair>
            )}
            {isRunning && <Pair name="Calls">{`${formatCount(begun)}, ${formatCount(open)} open, ${formatRate(callsPerSecond)}/s`}</Pair>}
            {isRunning && <Pair name="Errors">{`${formatCount(errors)}, ${formatRate(errorsPerSecond)}/s`}</Pair>}
          </Pairs>
        </Section>
        {isMethod && <MethodTypes requestType={row.method.requestType} responseType={row.method.responseType} />}
      </InspectorPanel>
    </InspectorFrame>
  );
}

/** What a method can be opened in. */
function MethodActions({ path }: { readonly path: string }) {
  const open = (tab: string) => goTo(servicePage("grpc", tab));
  return (
    <>
      {takesRules(path) && (
        <Button
          size="compact-xs"
          onClick={() => {
            requestedRules.give("grpc", path.slice(1));
            open("replies");
          }}
        >
          Add rule
        </Button>
      )}
      <Button
        size="compact-xs"
        onClick={() => {
          requestedTries.give("grpc", { path });
          open("try");
        }}
      >
        Open in Try
      </Button>
    </>
  );
}

function MethodTypes({ requestType, responseType }: { readonly requestType: string; readonly responseType: string }) {
  const schema = useGrpcSchema();
  return (
    <Answered answer={schema} what="the types" compact>
      {(value) => (
        <>
          <Types title="Request" typeName={requestType} schema={value} />
          <Types title="Response" typeName={responseType} schema={value} />
        </>
      )}
    </Answered>
  );
}

function Types({ title, typeName, schema }: { readonly title: string; readonly typeName: string; readonly schema: GrpcSchema }) {
  const message = schema.getMessage(typeName);
  if (!message) return null;
  const types = typesWithin(message, mostTypes);
  return (
    <>
      {types.map((type) => (
        <Section
          key={type.typeName}
          title={type === message ? title : `${title}: ${type.name}`}
          facts={<code>{shownText(type.typeName)}</code>}
        >
          <TypeFields type={type} />
        </Section>
      ))}
      {types.length === mostTypes && <Note>{`Only ${mostTypes} types are shown.`}</Note>}
    </>
  );
}

function TypeFields({ type }: { readonly type: DescMessage | DescEnum }) {
  const rows =
    type.kind === "enum"
      ? type.values.map(({ number, name }) => ({ number, name, type: "" }))
      : fieldsOf(type).map(({ oneof, ...field }) => ({ ...field, type: oneof ? `${field.type}, one of ${oneof}` : field.type }));
  if (rows.length === 0) return <Note>No fields.</Note>;
  return (
    <table className={styles.fields}>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td>{row.number}</td>
            <td>{shownText(row.name)}</td>
            <td>{shownText(row.type)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
