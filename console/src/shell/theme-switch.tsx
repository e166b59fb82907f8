import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconDeviceDesktop, IconMoon, IconShadow, IconSun } from '@tabler/icons-react'

const CHOICES = [
  { value: 'light', name: 'Light', icon: IconSun },
  { value: 'dark', name: 'Dark', icon: IconMoon },
  { value: 'auto', name: 'System', icon: IconDeviceDesktop },
] as const

/** Chooses the theme: light, dark, or what the operating system says. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const chosen = CHOICES.find((choice) => choice.value === colorScheme)!
  return (
    <Menu position="top-end">
      <Menu.Target>
        <ActionIcon aria-label={`Theme: ${chosen.name.toLowerCase()}`}>
          <IconShadow size={16} stroke={1.75} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label="Theme">
        {CHOICES.map(({ value, name, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} stroke={1.75} />}
            rightSection={value === colorScheme ? <IconCheck size={14} /> : undefined}
            onClick={() => setColorScheme(value)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
