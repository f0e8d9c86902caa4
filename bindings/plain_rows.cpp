#include "qwo/plain_rows.hpp"

#include <cstddef>

#include "bindings.hpp"

namespace qwo::bindings {

void bind_plain_rows(nb::module_& m) {
    m.def(
        "are_plain",
        [](const MatrixIn& rows, std::size_t head, double skewness, double excess, double serial,
           double serial_errors, double repeated, double bent, double bend_price) {
            const std::size_t n_rows = rows.shape(0), n_columns = rows.shape(1);
            return n_rows > 2 && n_columns > 1 &&
                   are_plain(
                       rows.data(), n_rows, n_columns,
                       {head, skewness, excess, serial, serial_errors, repeated, bent, bend_price});
        },
        nb::arg("rows").noconvert(), nb::arg("head"), nb::arg("skewness"), nb::arg("excess"),
        nb::arg("serial"), nb::arg("serial_errors"), nb::arg("repeated"), nb::arg("bent"),
        nb::arg("bend_price"), "Whether no check of rows has anything to say; False is no answer.");
}

} // namespace qwo::bindings
