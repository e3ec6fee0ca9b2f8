import { PasswordInput, type PasswordInputProps } from "@mantine/core";

type PasswordFieldProps = Omit<PasswordInputProps, "onChange" | "visibilityToggleButtonProps"> & {
  readonly onChange: (value: string) => void;
};

/** A password that is hidden until it is revealed, by keyboard too. */
export function PasswordField({ onChange, ...props }: PasswordFieldProps) {
  const name = (props["aria-label"] ?? "password").toLowerCase();
  return (
    <PasswordInput
      size="xs"
      visibilityToggleButtonProps={{ "aria-label": `Reveal the ${name}`, tabIndex: 0, "aria-hidden": false }}
      {...props}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
