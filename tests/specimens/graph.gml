graph [
  directed 1
  kind "cpdag"
  node [
    id 0
    label "a"
  ]
  node [
    id 1
    label "b"
  ]
  node [
    id 2
    label "c.1"
  ]
  node [
    id 3
    label "d"
    type "nominal"
    levels "[&#34;x&#34;, &#34;y z&#34;]"
  ]
  edge [
    source 0
    target 1
    link_probability 0.25
  ]
  edge [
    source 1
    target 2
    link_probability 0.25
  ]
  edge [
    source 2
    target 1
    link_probability 0.25
  ]
]
