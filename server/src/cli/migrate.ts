import { defineCommand } from './command.ts'

export const migrateCommand = defineCommand<{ applied: string[] }>({
  name: 'migrate',
  summary: 'Apply pending database migrations; npm start does this too',
  usage: 'migrate',
  run: async ({ storage }) => ({ applied: await storage.migrate() }),
  render: ({ applied }) =>
    applied.length === 0 ? 'The database is up to date.' : applied.map((step) => `Applied ${step}.`).join('\n'),
})
