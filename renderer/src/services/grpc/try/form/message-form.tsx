import type { DescField, DescMessage, DescOneof, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ActionIcon, Button, Select, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Note } from "../../../../ui/panel.tsx";
import { formatCount, formatCountOf } from "../../../../ui/texts/quantity.ts";
import { shownText } from "../../../../ui/texts/shown-text.ts";
import { Tooltip } from "../../../../ui/tooltip.tsx";
import { labelOf, typeText } from "../../schema/type-fields.ts";
import { fieldValue, firstValue, hasPresence, isObject, isRequired, shapeOf, type ValueShape, withValue } from "./form-value.ts";
import styles from "./message-form.module.css";
import { ValueInput } from "./value-input.tsx";

/** Of a list or map; the others are edited as JSON. */
const mostItems = 100;

interface FieldsProps {
  readonly type: DescMessage;
  readonly value: JsonObject;
  /** Path of the message within the one that is sent: "lines[0]."; empty for that one. */
  readonly path: string;
  readonly onChange: (value: JsonObject) => void;
}

/** A message as a form that is made from its type; the value is its ProtoJSON. */
export function MessageForm({ type, value, onChange }: Omit<FieldsProps, "path">) {
  return (
    <div className={styles.form}>
      <Fields type={type} value={value} path="" onChange={onChange} />
    </div>
  );
}

function Fields({ type, value, path, onChange }: FieldsProps) {
  if (type.members.length === 0) return <Note className={styles.none}>This message has no fields.</Note>;
  return type.members.map((member) =>
    member.kind === "oneof" ? (
      <OneofField key={member.name} oneof={member} type={type} value={value} path={path} onChange={onChange} />
    ) : (
      <Field
        key={member.number}
        field={member}
        path={path + member.name}
        value={fieldValue(value, member)}
        onChange={(next) => onChange(withValue(type, value, member, next))}
      />
    ),
  );
}

interface LineProps {
  readonly name: string;
  /** After the name, in a lighter colour. */
  readonly hint?: string | undefined;
  /** Removes, or makes it not set. */
  readonly removal?: { readonly title: string; readonly run: () => void } | undefined;
  readonly children?: ReactNode;
}

/** A name, its input and what removes it. */
function Line({ name, hint = "", removal, children }: LineProps) {
  return (
    <div className={styles.line}>
      <span className={styles.name} title={`${shownText(name)} ${hint}`}>
        {shownText(name)} <span className={styles.hint}>{hint}</span>
      </span>
      <div className={styles.value}>
        {children}
        {removal && (
          <Tooltip label={removal.title} withinPortal={false}>
            <ActionIcon className={styles.removal} aria-label={removal.title} onClick={removal.run}>
              <IconX size={14} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
    </div>
  );
}

const nested = (children: ReactNode) => <div className={styles.nested}>{children}</div>;

const AddButton = ({ label, title, onAdd }: { readonly label: string; readonly title: string; readonly onAdd: () => void }) => (
  <Button size="compact-xs" variant="subtle" aria-label={label} leftSection={<IconPlus size={13} />} onClick={onAdd}>
    {title}
  </Button>
);

interface FieldProps {
  readonly field: DescField;
  readonly path: string;
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue | undefined) => void;
}

function Field({ field, path, value, onChange }: FieldProps) {
  if (field.fieldKind === "list") return <ListField field={field} path={path} value={value} onChange={onChange} />;
  if (field.fieldKind === "map") return <MapField field={field} path={path} value={value} onChange={onChange} />;
  const shape = shapeOf(field);
  return (
    <Value
      shape={shape}
      name={field.name}
      hint={labelOf(field) + typeText(field)}
      path={path}
      value={value}
      placeholder={hasPresence(field) ? (isRequired(field) ? "required" : "not set") : undefined}
      // An empty string is the default of a field without presence; in a field with presence it is a value.
      onChange={(next) => onChange(next === "" && (shape.kind !== "string" || !hasPresence(field)) ? undefined : next)}
      removal={hasPresence(field) && value !== undefined ? { title: `Unset ${path}`, run: () => onChange(undefined) } : undefined}
    />
  );
}

interface ValueProps extends Pick<LineProps, "name" | "hint" | "removal"> {
  readonly shape: ValueShape;
  readonly path: string;
  readonly value: JsonValue | undefined;
  readonly placeholder?: string | undefined;
  readonly onChange: (value: JsonValue) => void;
}

/** One value on its line; a message opens below. */
function Value({ shape, name, hint, removal, path, value, placeholder, onChange }: ValueProps) {
  if (shape.kind !== "message") {
    return (
      <Line name={name} hint={hint} removal={removal}>
        <ValueInput shape={shape} label={path} value={value} placeholder={placeholder} onChange={onChange} />
      </Line>
    );
  }
  if (value === undefined) {
    return (
      <Line name={name} hint={hint}>
        <AddButton label={`Set ${path}`} title="Set" onAdd={() => onChange({})} />
      </Line>
    );
  }
  return (
    <section className={styles.group} aria-label={path}>
      <Line name={name} hint={hint} removal={removal} />
      {nested(<Fields type={shape.type} value={isObject(value) ? value : {}} path={`${path}.`} onChange={onChange} />)}
    </section>
  );
}

const more = (left: number) =>
  left > 0 && <Note className={styles.none}>{`${formatCountOf(left, "more", "more")}: edit them as JSON.`}</Note>;

function ListField({ field, path, value, onChange }: FieldProps) {
  const shape = shapeOf(field);
  const items = Array.isArray(value) ? value : [];
  const set = (next: readonly JsonValue[]) => onChange(next.length === 0 ? undefined : [...next]);
  return (
    <section className={styles.group} aria-label={path}>
      <Line name={field.name} hint={typeText(field)}>
        {items.length > 0 && <span className={styles.count}>{formatCount(items.length)}</span>}
        <AddButton label={`Add to ${path}`} title="Add" onAdd={() => set([...items, firstValue(shape)])} />
      </Line>
      {items.length > 0 &&
        nested(
          <>
            {items.slice(0, mostItems).map((item, index) => (
              <Value
                // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place; values may repeat.
                key={index}
                shape={shape}
                name={`[${index}]`}
                path={`${path}[${index}]`}
                value={item}
                onChange={(next) => set(items.map((other, at) => (at === index ? next : other)))}
                removal={{ title: `Remove ${path}[${index}]`, run: () => set(items.filter((_, at) => at !== index)) }}
              />
            ))}
            {more(items.length - mostItems)}
          </>,
        )}
    </section>
  );
}

function MapField({ field, path, value, onChange }: FieldProps) {
  const shape = shapeOf(field);
  const entries = Object.entries(isObject(value) ? value : {});
  const keys = entries.map(([key]) => key);
  const set = (next: readonly (readonly [string, JsonValue])[]) => onChange(next.length === 0 ? undefined : Object.fromEntries(next));
  return (
    <section className={styles.group} aria-label={path}>
      <Line name={field.name} hint={typeText(field)}>
        {entries.length > 0 && <span className={styles.count}>{formatCount(entries.length)}</span>}
        <NewKey path={path} taken={keys} onAdd={(key) => set([...entries, [key, firstValue(shape)]])} />
      </Line>
      {entries.length > 0 &&
        nested(
          <>
            {entries.slice(0, mostItems).map(([key, item]) => (
              <Value
                key={key}
                shape={shape}
                name={key === "" ? '""' : key}
                path={`${path}[${JSON.stringify(key)}]`}
                value={item}
                onChange={(next) => set(entries.map(([other, kept]) => [other, other === key ? next : kept]))}
                removal={{ title: `Remove ${path}[${JSON.stringify(key)}]`, run: () => set(entries.filter(([other]) => other !== key)) }}
              />
            ))}
            {more(entries.length - mostItems)}
          </>,
        )}
    </section>
  );
}

/** Adds an entry; a key cannot be there twice. */
function NewKey({
  path,
  taken,
  onAdd,
}: {
  readonly path: string;
  readonly taken: readonly string[];
  readonly onAdd: (key: string) => void;
}) {
  const [key, setKey] = useState("");
  const isTaken = taken.includes(key);
  const add = () => {
    if (isTaken) return;
    onAdd(key);
    setKey("");
  };
  return (
    <>
      <TextInput
        aria-label={`New key of ${path}`}
        placeholder="Key"
        value={key}
        spellCheck={false}
        error={isTaken && key !== "" ? "This key exists already" : undefined}
        onChange={(event) => setKey(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          add();
        }}
      />
      <AddButton label={`Add to ${path}`} title="Add" onAdd={add} />
    </>
  );
}

interface OneofFieldProps extends FieldsProps {
  readonly oneof: DescOneof;
}

/** Which field of a oneof is set, and that field. */
function OneofField({ oneof, type, value, path, onChange }: OneofFieldProps) {
  const chosen = oneof.fields.find((field) => fieldValue(value, field) !== undefined);
  const cleared = oneof.fields.reduce((message, field) => withValue(type, message, field, undefined), value);
  const choose = (name: string | null) => {
    const field = oneof.fields.find((other) => other.name === name);
    onChange(field ? withValue(type, cleared, field, firstValue(shapeOf(field))) : cleared);
  };
  return (
    <section className={styles.group} aria-label={path + oneof.name}>
      <Line name={oneof.name} hint="one of">
        <Select
          aria-label={`${path}${oneof.name}: which field`}
          data={oneof.fields.map(({ name }) => name)}
          value={chosen?.name ?? null}
          placeholder="none"
          clearable
          size="xs"
          comboboxProps={{ withinPortal: false, floatingStrategy: "fixed" }}
          onChange={choose}
        />
      </Line>
      {chosen &&
        nested(
          <Value
            shape={shapeOf(chosen)}
            name={chosen.name}
            hint={typeText(chosen)}
            path={path + chosen.name}
            value={fieldValue(value, chosen)}
            onChange={(next) => onChange(withValue(type, cleared, chosen, next))}
          />,
        )}
    </section>
  );
}
