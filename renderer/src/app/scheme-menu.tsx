import { ActionIcon, type MantineColorScheme, Menu, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

export const schemes: readonly { readonly value: MantineColorScheme; readonly title: string; readonly Icon: typeof IconSun }[] = [
  { value: "light", title: "Light", Icon: IconSun },
  { value: "dark", title: "Dark", Icon: IconMoon },
  { value: "auto", title: "As the system", Icon: IconDeviceDesktop },
];

export function SchemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Shown = useComputedColorScheme("dark", { getInitialValueInEffect: false }) === "dark" ? IconSun : IconMoon;
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <ActionIcon size={28} aria-label="Colour scheme">
          <Shown size={16} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, title, Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={14} stroke={1.5} />}
            rightSection={colorScheme === value && <IconCheck size={14} stroke={1.5} aria-label="in use" />}
            onClick={() => setColorScheme(value)}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
