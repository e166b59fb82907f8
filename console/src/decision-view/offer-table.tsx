import { Table } from '@mantine/core'
import { FoldSection } from './fold-section.tsx'
import { offerRows } from './offer-rows.ts'
import type { ViewData } from './view-data.ts'

/** The figures of a counter-offer beside those of the request: what the smaller amount changes. */
export function OfferTable({ view }: { view: ViewData }) {
  const { counter_offer } = view.evidence
  if (!counter_offer) return null
  return (
    <FoldSection title="Asked for and offered" sub="what the amount changes" flush>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Figure</Table.Th>
            <Table.Th ta="right">Asked for</Table.Th>
            <Table.Th ta="right">Offered</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {offerRows(view, counter_offer).map(({ name, asked, offered }) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right" className="num">
                {asked}
              </Table.Td>
              <Table.Td ta="right" className="num">
                <b>{offered}</b>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </FoldSection>
  )
}
